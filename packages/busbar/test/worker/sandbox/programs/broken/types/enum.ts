enum Colour {
  Red,
}
export default Colour
