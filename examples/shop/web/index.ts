/** Serves the page. Its script is bundled at start, so there is no build step. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const folder = join(import.meta.dirname, 'page')

interface File {
  readonly type: string
  readonly content: string | Buffer
}

const files: Readonly<Record<string, File>> = {
  '/': { type: 'text/html', content: await readFile(join(folder, 'index.html')) },
  '/style.css': { type: 'text/css', content: await readFile(join(folder, 'style.css')) },
  '/basket.css': { type: 'text/css', content: await readFile(join(folder, 'basket.css')) },
  '/page.js': { type: 'text/javascript', content: await bundle(join(folder, 'main.ts')) },
}

createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://shop')
  const file = Object.hasOwn(files, pathname) ? files[pathname] : undefined
  if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
    response.writeHead(file === undefined ? 404 : 405).end()
    return
  }
  response.setHeader('content-type', `${file.type}; charset=utf-8`)
  response.setHeader('content-security-policy', "default-src 'self'; img-src 'self' data:")
  response.setHeader('content-length', Buffer.byteLength(file.content))
  response.end(request.method === 'HEAD' ? undefined : file.content)
}).listen(Number(process.env['PORT'] ?? 3000))

async function bundle(input: string): Promise<string> {
  await using building = await rolldown({ input, platform: 'browser', resolve: { conditionNames: conditions() } })
  const { output } = await building.generate({ format: 'es', minify: true, codeSplitting: false })
  return output[0].code
}

/** In this repository the page uses the sources of `busbar`, like this program. */
function conditions(): string[] {
  const source = import.meta.resolve('busbar/client').endsWith('.ts') ? ['busbar-source'] : []
  return [...source, 'browser', 'import', 'default']
}
