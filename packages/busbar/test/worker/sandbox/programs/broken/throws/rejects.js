async function main() {
  await null
  throw new Error('rejected')
}
main()
