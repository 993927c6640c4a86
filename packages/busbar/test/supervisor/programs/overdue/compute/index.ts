import { compute } from './contract.ts'

export default compute.implement({
  /** Keeps its thread busy for so many milliseconds, whatever it is told meanwhile. */
  spin(ms) {
    const end = performance.now() + ms
    while (performance.now() < end);
    return 'done'
  },
})
