import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** Where it is not on PATH. */
const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:/Program Files/Google/Chrome/Application/chrome.exe',
]

/** Given to a suite as its `skip`. Where nobody watches, nothing is skipped: there its absence is a failure. */
export const noChromium: string | false =
  process.env['CI'] === 'true' || findChromium() !== undefined
    ? false
    : 'there is no Chromium here: apt-get install chromium, or name one in CHROMIUM'

/** The system's own: nothing is downloaded. The caller closes it. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined)
    throw new Error('there is no Chromium on PATH: apt-get install chromium, or name one in CHROMIUM')
  // A container's root has no sandbox, and these pages are our own.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
  return [process.env['CHROMIUM'] ?? '', ...onPath, ...elsewhere].find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
