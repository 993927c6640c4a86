export default async () => {
  throw new Error('factory')
}
