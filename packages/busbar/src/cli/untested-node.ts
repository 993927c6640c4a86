import type { Log } from '../observe/log.ts'
import { testedNodes } from '../shared/tested-nodes.ts'

/** `bin/busbar.js` lets newer majors in: what they broke, if anything, is better tried than ruled out. */
export function warnOfUntestedNode(log: Log): void {
  const { node } = process.versions
  if (testedNodes.includes(Number.parseInt(node))) return
  log.event('warn', `Busbar was tested with Node ${testedNodes.join(' and ')}, and this is Node ${node}`)
}
