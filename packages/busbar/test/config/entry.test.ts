import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findEntry } from '../../src/config/services/entry.ts'
import { parseStartScript } from '../../src/config/services/start-script.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'

describe('the entry of a program', () => {
  const start = (script: string, more: object = {}): object => ({ scripts: { start: script }, ...more })
  const found: readonly [what: string, files: readonly string[], pack: object | undefined, file: string, by: string][] =
    [
      [
        'scripts.start before main',
        ['a.js', 'b.js', 'index.js'],
        start('node a.js', { main: 'b.js' }),
        'a.js',
        'scripts.start',
      ],
      ['a start script without an extension', ['bin/www.js'], start('node ./bin/www'), 'bin/www.js', 'scripts.start'],
      ['a start script of a folder', ['src/index.mjs'], start('node src'), 'src/index.mjs', 'scripts.start'],
      ['a start script of this folder', ['lib/x.js'], start('node .', { main: 'lib/x' }), 'lib/x.js', 'scripts.start'],
      [
        'main where the start script is no node',
        ['b.js', 'index.js'],
        start('next start', { main: 'b.js' }),
        'b.js',
        'main',
      ],
      ['main without an extension', ['lib/b.cjs'], { main: './lib/b' }, 'lib/b.cjs', 'main'],
      ['main that is a folder', ['lib/index.js'], { main: 'lib' }, 'lib/index.js', 'main'],
      ['index where main does not exist', ['index.ts'], { main: 'dist/x.js' }, 'index.ts', 'index.ts'],
      ['index before server and app', ['app.ts', 'server.ts', 'index.cjs'], undefined, 'index.cjs', 'index.cjs'],
      ['server before app', ['app.ts', 'server.mjs'], undefined, 'server.mjs', 'server.mjs'],
      ['TypeScript before JavaScript', ['app.js', 'app.mts', 'app.ts'], undefined, 'app.ts', 'app.ts'],
    ]
  for (const [what, files, pack, file, by] of found)
    it(`is ${what}`, async () => {
      const all: Files = {
        ...Object.fromEntries(files.map((name) => [name, ''])),
        ...(pack && { 'package.json': pack }),
      }
      using folder = new TestFolder(all)
      const { entry } = await findEntry(folder.path, 'x', undefined)
      assert.deepEqual([entry.file, entry.foundBy], [folder.at(file), by])
    })

  it('is that of the config, before all others', async () => {
    using folder = new TestFolder({ 'x.js': '', 'index.js': '', 'package.json': start('node index.js --flag') })
    const { entry } = await findEntry(folder.path, 'x', './x.js')
    assert.deepEqual(entry, { file: folder.at('x.js'), args: [], nodeOptions: [], foundBy: 'entry' })
  })
})

describe('a start script', () => {
  const read: readonly [script: string, expected: Partial<ReturnType<typeof parseStartScript>>][] = [
    ['node server.js', { file: 'server.js' }],
    ['  node   ./src/server.ts  ', { file: './src/server.ts' }],
    ['node server.js --port 3000 -v --x=y z', { file: 'server.js', args: ['--port', '3000', '-v', '--x=y', 'z'] }],
    [
      'node -r dotenv/config --import=./otel.js --enable-source-maps a.js',
      { file: 'a.js', nodeOptions: ['-r', 'dotenv/config', '--import=./otel.js', '--enable-source-maps'] },
    ],
    [
      'node --import ./r.js --max-old-space-size=4096 a.js',
      { file: 'a.js', nodeOptions: ['--import', './r.js', '--max-old-space-size=4096'] },
    ],
    ['node -- a.js -- b', { file: 'a.js', args: ['--', 'b'] }],
    ['NODE_ENV=production A="two words" node a.js', { file: 'a.js', env: { NODE_ENV: 'production', A: 'two words' } }],
    ["cross-env A= B='x y' node a.js", { file: 'a.js', env: { A: '', B: 'x y' } }],
    ['env A=1 /usr/bin/node a.js', { file: 'a.js', env: { A: '1' } }],
    ['exec node a.js', { file: 'a.js' }],
    [
      'node --env-file=.env --env-file-if-exists local.env a.js',
      {
        file: 'a.js',
        envFiles: [
          { file: '.env', optional: false },
          { file: 'local.env', optional: true },
        ],
      },
    ],
    ['node "my server.js" "say \\"hi\\"" a\\ b \'$5\'', { file: 'my server.js', args: ['say "hi"', 'a b', '$5'] }],
  ]
  for (const [script, expected] of read)
    it(`is parsed: ${script}`, () => {
      assert.deepEqual(parseStartScript(script), { args: [], nodeOptions: [], env: {}, envFiles: [], ...expected })
    })

  const others = [
    [
      '',
      '   ',
      'node',
      'next start',
      'npm run serve',
      'tsx server.ts',
      'nodemon server.js',
      'node-dev a.js',
      'deno run a.ts',
    ],
    ['tsc && node a.js', 'node a.js | pino-pretty', 'node a.js; echo', 'node a.js &', 'node a.js > log', 'node $FILE'],
    ['node a.js --port ${PORT:-3000}', 'node "$FILE"', 'node `which x`', 'node *.js', 'node "a.js', "node 'a.js"],
    [
      'node -e "x"',
      'node --eval=1 a.js',
      'node --test',
      'node --run serve',
      'node --version',
      'node -p 1',
      'node --watch',
    ],
  ].flat()
  for (const script of others)
    it(`is not parsed: ${JSON.stringify(script)}`, () => {
      assert.equal(parseStartScript(script), undefined)
    })
})
