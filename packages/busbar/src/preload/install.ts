/**
 * Makes this process or thread reach the app's services by name, where its environment says which app that is, and a thread of a
 * program find what the program would find by a relative path.
 */
import { inheritCalls } from '../shared/inherited-calls.ts'
import { enterFolder } from './folder.ts'
import { readAccess } from './access.ts'
import { captureConnections } from './connect.ts'
import { countHops } from './hops.ts'

enterFolder()
const access = readAccess()
if (access !== undefined) {
  const hops = countHops(access)
  captureConnections(access, hops)
  inheritCalls(() => ({ ...access.variables, hops: hops.current() }))
}
