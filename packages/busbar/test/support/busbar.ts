/** Replaces `bin/busbar.js` in tests: the same command line, from the sources. */
import { main } from '../../src/cli/main.ts'

await main(process.argv.slice(2))
