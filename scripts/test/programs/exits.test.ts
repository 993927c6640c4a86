import { after, test } from 'node:test'

test('passes', () => {})

after(() => process.exit(3))
