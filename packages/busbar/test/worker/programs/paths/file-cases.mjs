import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { promises, call, done, closed } from './results.mjs'

export const fileCases = {
  reading: async () => [
    fs.readFileSync('data/one.txt', 'utf8'),
    await done('readFile', './data/one.txt', 'utf8'),
    await promises.readFile('data/../data/one.txt', 'utf8'),
    await call('readFile', 'data/one.txt', 'utf8'),
  ],
  'writing and appending': async () => {
    fs.writeFileSync('out.txt', 'a')
    await done('appendFile', 'out.txt', 'b')
    await promises.appendFile('out.txt', 'c')
    fs.appendFileSync('out.txt', 'd')
    await promises.writeFile('out2.txt', fs.readFileSync('out.txt'))
    await done('writeFile', 'out3.txt', fs.readFileSync('out2.txt'))
    return fs.readFileSync('out3.txt', 'utf8')
  },
  opening: async () => {
    const one = fs.openSync('data/one.txt')
    const [other] = await done('open', 'data/one.txt')
    const handle = await promises.open('data/one.txt')
    const all = [fs.readFileSync(one, 'utf8'), fs.readFileSync(other, 'utf8'), await handle.readFile('utf8')]
    fs.closeSync(one)
    fs.closeSync(other)
    await handle.close()
    return all
  },
  streams: async () => {
    const from = fs.createReadStream('data/one.txt')
    const to = fs.createWriteStream('streamed.txt')
    await once(from.pipe(to), 'finish')
    const direct = new fs.ReadStream('data/one.txt', 'utf8')
    const written = new fs.WriteStream('written.txt')
    written.end('w')
    await closed(written)
    return [
      from.path,
      to.path,
      direct.path,
      fs.readFileSync('streamed.txt', 'utf8'),
      await text(direct),
      fs.readFileSync('written.txt', 'utf8'),
    ]
  },
  'a stream of nothing': async () => await closed(fs.createReadStream('nothing/at-all')),
  'a stream into nothing': async () => await closed(fs.createWriteStream('nothing/at-all')),
  'a fast stream': async () => {
    if (fs.Utf8Stream === undefined) return
    const stream = new fs.Utf8Stream({ dest: 'fast/log.txt', mkdir: true, sync: true })
    stream.write('line')
    stream.flushSync()
    stream.destroy()
    return fs.readFileSync('fast/log.txt', 'utf8')
  },
  'is it there': async () => [
    fs.existsSync('data'),
    fs.existsSync(''),
    fs.existsSync('elsewhere'),
    await new Promise((resolve) => fs.exists('data', resolve)),
    await promisify(fs.exists)('data'),
    fs.accessSync('data'),
    await done('access', 'data'),
    await promises.access('data'),
    fs.statSync('data').isDirectory(),
    (await done('stat', 'data'))[0].isDirectory(),
    (await promises.stat('data')).isDirectory(),
    fs.lstatSync('data/link').isSymbolicLink(),
    (await done('lstat', 'data/link'))[0].isSymbolicLink(),
    (await promises.lstat('data/link')).isSymbolicLink(),
    fs.statfsSync('data').bsize > 0,
    (await done('statfs', 'data'))[0].bsize > 0,
    (await promises.statfs('data')).bsize > 0,
  ],
  'a path that goes through a link': () => fs.readFileSync('data/link-to-deep/../two.txt', 'utf8'),
  'a slash behind a file': () => fs.statSync('data/one.txt/'),
  'no path': () => fs.readFileSync(''),
  'a null byte': () => fs.readFileSync('data\0'),
  'no string': () => fs.readFileSync({}),
  'a URL': () => fs.readFileSync(pathToFileURL('data/one.txt'), 'utf8'),
  'an absolute path': () => fs.readFileSync(path.resolve('data/one.txt'), 'utf8'),
  'a buffer of an absolute path': () => fs.readFileSync(Buffer.from(path.resolve('data/one.txt')), 'utf8'),
}
