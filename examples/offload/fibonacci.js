/** The naive recursion: some milliseconds of CPU for 30. */
export default function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
}
