export default <p />
