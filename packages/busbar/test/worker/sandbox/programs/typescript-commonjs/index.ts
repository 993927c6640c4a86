const http = require('node:http') as typeof import('node:http')
const greeting: { hello: string } = { hello: 'typescript-commonjs' }
if (require.main === module) http.createServer((_, res) => res.end(JSON.stringify(greeting))).listen(3000)
