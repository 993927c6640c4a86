import { spawnSync } from 'node:child_process'
import fs, { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'

const name = process.env.NAME
const say = {
  '/console': () => {
    console.log('log of', name)
    console.error('error of', name)
  },
  '/descriptor': () => {
    fs.writeSync(1, `writeSync of ${name}\n`)
    writeSync(1, Buffer.from(`xxbytes of ${name}\nxx`), 2, `bytes of ${name}\n`.length)
    fs.writevSync(1, [Buffer.from('writev '), Buffer.from(`of ${name}\n`)])
    fs.writeFileSync(1, `writeFile of ${name}\n`)
  },
  '/callback': async () => {
    const { bytesWritten } = await promisify(fs.write)(1, Buffer.from('é\n'))
    const bytes = await new Promise((done) => fs.write(1, `write of ${name}\n`, 'utf8', (_, n) => done(n)))
    await new Promise((done) => process.stdout.write(`${bytesWritten} and ${bytes}\n`, done))
  },
  '/pieces': async () => {
    for (const byte of Buffer.from('halb – ganz\r\n')) process.stdout.write(Buffer.of(byte))
    process.stdout.write('one\ntwo\nthr')
    await new Promise(setImmediate)
    process.stdout.write('ee\n')
  },
  '/rest': () => process.stdout.write('no end'),
  '/long': () => process.stdout.write('x'.repeat(150_000) + '\n'),
  '/endless': () => process.stdout.write('y'.repeat(70_000)),
  '/levels': () => {
    fs.writeSync(1, '{"level":20,"msg":"a"}\n{"level":40,"msg":"b"}\n{"level":"fatal","msg":"c"}\n{"level":60}\n')
  },
  '/pipe': () => new Promise((done) => Readable.from(['piped ', 'text\n']).on('end', done).pipe(process.stdout)),
  '/file': () => {
    fs.writeFileSync(process.env.FILE, 'not for the log\n')
  },
}

createServer(async (req, res) => {
  await say[req.url]()
  res.end('{}')
}).listen(3000)
