import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** Paths besides PATH. */
const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:/Program Files/Google/Chrome/Application/chrome.exe',
]

/** The `skip` of a suite. In CI nothing is skipped, so a missing Chromium fails the tests. */
export const noChromium: string | false =
  process.env['CI'] === 'true' || findChromium() !== undefined
    ? false
    : 'there is no Chromium here: apt-get install chromium, or name one in CHROMIUM'

/** Launches the system's Chromium. The caller closes it. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined)
    throw new Error('there is no Chromium on PATH: apt-get install chromium, or name one in CHROMIUM')
  // Root in a container has no sandbox, and these pages are trusted.
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
