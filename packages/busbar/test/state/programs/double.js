export default (n) => 2 * n
