/** The dashboard of an example in Chromium, while the app serves a light load. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page as Tab } from 'playwright-core'
import type { App } from '../../../src/config/app.ts'
import { loadApp, type Placements } from '../../../src/config/load.ts'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { toEntry } from '../../../src/observe/log-entry.ts'
import { RecentLog } from '../../../src/observe/recent-log.ts'
import type { RunningApp } from '../../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../../src/supervisor/supervisor.ts'
import { launchChromium } from '../../support/browser.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const token = 'a-token-for-this-test'
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const pages = ['', 'services', 'latency', 'runtime', 'traces', 'logs', 'profile', 'api', 'reports'] as const

export interface View {
  readonly theme: 'light' | 'dark'
  readonly width: number
}

interface Example {
  readonly folder: string
  /** Paths at the gateway that are asked for in turn. */
  readonly paths: readonly string[]
}

export class OpenedPage implements AsyncDisposable {
  readonly running: RunningApp
  readonly browser: Browser
  /** Errors of the page and of its console. */
  readonly complaints: string[] = []
  /** Requests to other servers. */
  readonly foreign: string[] = []
  readonly #example: Example
  readonly #data: TestFolder
  #context: BrowserContext | undefined
  #tab: Tab | undefined
  #stopLoad = (): Promise<void> => Promise.resolve()

  private constructor(example: Example, data: TestFolder, running: RunningApp, browser: Browser) {
    this.#example = example
    this.#data = data
    this.running = running
    this.browser = browser
  }

  static async open(example: Example): Promise<OpenedPage> {
    const data = new TestFolder()
    process.env['SHOP_DATABASE'] = data.at('shop.db')
    const load = async (placements: Placements = {}): Promise<App> =>
      adapted(await loadApp(example.folder, { env: {}, overrides: { port: 0 }, placements }))
    const recentLog = new RecentLog()
    const app = await load()
    const [running, browser] = await Promise.all([
      startSupervisor(app, {
        mode: 'start',
        log: (record) => recentLog.add(toEntry(record, record.worker)),
        load,
        recentLog,
        page: { port: 0, token },
        timing: { stale: 60_000 },
      }),
      launchChromium(),
    ])
    const opened = new OpenedPage(example, data, running, browser)
    opened.startLoad()
    return opened
  }

  get token(): string {
    return token
  }

  get tab(): Tab {
    return this.#tab!
  }

  /** Opens the page anew, as `--open` does. */
  async view({ theme, width }: View): Promise<void> {
    await this.#context?.close()
    const viewport = { width, height: width < 700 ? 844 : 900 }
    this.#context = await this.browser.newContext({ viewport, colorScheme: theme, reducedMotion: 'reduce' })
    const tab = (this.#tab = await this.#context.newPage())
    const known = [this.running.pageUrl!, this.running.addresses[0]!.url.replace(/\/$/, '')]
    tab.on('pageerror', ({ message }) => this.complaints.push(message))
    tab.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()))
    tab.on('request', (request) => {
      const url = request.url()
      if (!known.some((one) => url.startsWith(one)) && !/^(?:data|blob|about):/.test(url)) this.foreign.push(url)
    })
    await tab.goto(`${this.running.pageUrl}/#token=${token}`)
    await tab.getByRole('heading', { name: 'Topology' }).waitFor()
  }

  async goTo(page: string): Promise<void> {
    await this.tab.evaluate(`location.hash = '#/${page}'`)
    await this.tab.locator('main h1').waitFor()
  }

  /** What axe-core finds against WCAG 2 A and AA, and against good practice. */
  async violations(): Promise<string[]> {
    await this.tab.evaluate(axe)
    return await this.tab.evaluate<string[]>(
      `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`,
    )
  }

  /** Whether the page itself scrolls sideways. */
  async isTooWide(): Promise<boolean> {
    return await this.tab.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
  }

  /** Of the navigation. */
  async linksOutOfView(): Promise<string[]> {
    return await this.tab.evaluate<string[]>(
      `[...document.querySelectorAll('nav a')]
        .filter((link) => link.getBoundingClientRect().right > innerWidth)
        .map(({ title }) => title)`,
    )
  }

  /** For those who look at it: `BUSBAR_SCREENSHOTS` names a folder. */
  async screenshot(name: string, tab = this.tab): Promise<void> {
    const folder = process.env['BUSBAR_SCREENSHOTS']
    if (folder === undefined) return
    mkdirSync(folder, { recursive: true })
    await tab.screenshot({ path: join(folder, `${name}.png`) })
  }

  /** Asks the admin API, as other clients do. */
  async api<T>(path: string): Promise<T> {
    const response = await fetch(`${this.running.pageUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(response.status, 200, path)
    return (await response.json()) as T
  }

  status(): Promise<AppStatus> {
    return this.api('/status')
  }

  startLoad(): void {
    const { paths } = this.#example
    const { url } = this.running.addresses[0]!
    let isOver = false
    const loop = async (): Promise<void> => {
      for (let turn = 0; !isOver; turn++) {
        await (await fetch(new URL(paths[turn % paths.length]!, url))).arrayBuffer().catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
    }
    // While the app restarts there is nobody to answer.
    const done = loop().catch(() => {})
    this.#stopLoad = async () => {
      isOver = true
      await done
    }
  }

  stopLoad(): Promise<void> {
    return this.#stopLoad()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopLoad()
    await this.browser.close()
    await this.running.stop()
    this.#data[Symbol.dispose]()
  }
}

/** No fixed ports, and traces of every request. */
function adapted(app: App): App {
  const services = app.services.map((service) => ({ ...service, expose: [] }))
  return { ...app, services, traces: { sample: 1, keep: 200 } }
}
