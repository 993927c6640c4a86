import { isOn } from '../../support/mesh/accelerators.ts'
import { way } from '../../support/mesh/byte-mesh.ts'

const files = ['socket', 'clients', 'upgrade', 'hops', 'accept', 'context', 'early-response', 'unread-body']

// Runs the same tests with each service in another app. Without these accelerators a connection to
// it is a system socket (test/hosts).
way.toHost = true
if (isOn('stream') && isOn('exchange')) for (const file of files) await import(`./${file}.test.ts`)
