/** The files of a new app, by template. Tests start each of them. */
import { configText } from '../config-text.ts'
import type { TemplateName } from './template-names.ts'
import type { AppConfig } from '../../config/schema/app-schema.ts'

export const templateSummaries: Readonly<Record<TemplateName, string>> = {
  programs: 'HTTP servers as they are, which call each other by name',
  typed: 'a service with a contract, called over HTTP and from other services',
  both: 'a server, and a typed service that it calls',
}

/** Texts by path. */
export type TemplateFiles = Readonly<Record<string, string>>

export interface TemplateOptions {
  /** The app's name, as its `package.json` has it. */
  readonly name: string
  /** The version of `busbar` that it will use. */
  readonly version: string
}

export function templateFiles(template: TemplateName, options: TemplateOptions): TemplateFiles {
  const { files, config, tryIt, isTyped } = templates[template]
  const comments = ['busbar check shows how it runs; every key is in docs/reference/config.md of Busbar.']
  return {
    'package.json': manifest(options, isTyped),
    'tsconfig.json': `${JSON.stringify(tsconfig, undefined, 2)}\n`,
    '.gitignore': 'node_modules/\n.env\n',
    'README.md': readme(options.name, tryIt),
    'busbar.config.ts': configText(config, { canImport: true, comments }),
    ...files,
  }
}

/** Types only: Node runs the sources by stripping their types. */
const tsconfig = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
  },
}

function manifest({ name, version }: TemplateOptions, isTyped: boolean): string {
  const content = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    scripts: { start: 'busbar start', dev: 'busbar dev', check: 'busbar check' },
    dependencies: { busbar: `^${version}`, ...(isTyped && { zod: '^4.0.0' }) },
    devDependencies: { '@types/node': '^24.0.0' },
  }
  return `${JSON.stringify(content, undefined, 2)}\n`
}

function readme(name: string, tryIt: string): string {
  return `# ${name}

\`\`\`sh
npm install
npm run dev     # starts all services, and again after each change
${tryIt}
npm run check   # where each service runs, and what is known to be unsafe
\`\`\`
`
}

const stock = `import { createServer } from 'node:http'

// Under Busbar no port is opened here: others call http://stock.internal.
createServer((_request, response) => {
  response.end('12 books')
}).listen(3001)
`

const web = `import { createServer } from 'node:http'

createServer(async (_request, response) => {
  try {
    const answer = await fetch('http://stock.internal/')
    response.end(\`The shop has \${await answer.text()}\\n\`)
  } catch {
    response.writeHead(502).end('The stock does not answer\\n')
  }
}).listen(3000)
`

const contract = `import { fn, service } from 'busbar/contract'
import * as z from 'zod'

const Item = z.object({ id: z.string().min(1).max(64), name: z.string().max(256) })
export type Item = z.infer<typeof Item>

/** All that callers import. */
export const items = service('items', {
  add: fn({ input: Item, output: Item, http: 'POST /items', idempotent: true }),
  list: fn({ output: z.array(Item), http: 'GET /items', idempotent: true }),
  item: fn({
    input: z.object({ id: z.string() }),
    output: Item,
    errors: { NOT_FOUND: z.object({ id: z.string() }) },
    http: 'GET /items/{id}',
    idempotent: true,
  }),
})
`

const implementation = `import { items, type Item } from './contract.ts'

// Each instance has its own map. For what all share, use a database or \`shared\` of busbar.
export default items.implement(() => {
  const stored = new Map<string, Item>([['1', { id: '1', name: 'a book' }]])
  return {
    add(item) {
      stored.set(item.id, item)
      return item
    },
    list: () => [...stored.values()],
    item: ({ id }, { fail }) => stored.get(id) ?? fail('NOT_FOUND', { id }),
  }
})
`

const typedWeb = `import { createServer } from 'node:http'
import { client } from 'busbar/client'
import { items } from '../items/contract.ts'

const stored = client(items)

createServer(async (_request, response) => {
  try {
    const list = await stored.list()
    response.end(\`\${list.map(({ name }) => name).join(', ')}\\n\`)
  } catch {
    response.writeHead(502).end('The items do not answer\\n')
  }
}).listen(3000)
`

interface Template {
  readonly files: TemplateFiles
  readonly config: AppConfig
  readonly tryIt: string
  readonly isTyped: boolean
}

const templates: Readonly<Record<TemplateName, Template>> = {
  programs: {
    files: { 'web/index.ts': web, 'stock/index.ts': stock },
    config: {
      gateway: { port: 3000, entry: 'web' },
      services: { web: { path: './web', needs: ['stock'] }, stock: './stock' },
    },
    tryIt: 'curl http://127.0.0.1:3000/',
    isTyped: false,
  },
  typed: {
    files: { 'items/contract.ts': contract, 'items/index.ts': implementation },
    config: { gateway: { port: 3000, routes: { '/api': 'items' } }, services: { items: './items' } },
    tryIt: 'curl http://127.0.0.1:3000/api/items',
    isTyped: true,
  },
  both: {
    files: { 'items/contract.ts': contract, 'items/index.ts': implementation, 'web/index.ts': typedWeb },
    config: {
      gateway: { port: 3000, routes: { '/': 'web', '/api': 'items' } },
      services: { web: { path: './web', needs: ['items'] }, items: './items' },
    },
    tryIt: 'curl http://127.0.0.1:3000/ http://127.0.0.1:3000/api/items',
    isTyped: true,
  },
}
