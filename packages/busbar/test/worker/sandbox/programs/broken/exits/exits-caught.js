async function main() {
  throw new Error('why')
}
main().catch((error) => {
  console.error(error.message)
  process.exit(1)
})
