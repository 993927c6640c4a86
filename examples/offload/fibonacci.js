/** The naive recursion: some milliseconds of pure CPU for 30. Runs wherever it is called. */
export default function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
}
