/** Writes a recording as one file: this page's own code and styles, and the data. */
import { type Recording, recordingId } from './recording.ts'

/** The file contacts nobody, and no text of the data runs. */
const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

export async function toHtml(recording: Recording): Promise<string> {
  const [code, styles] = await Promise.all([
    textsOf('script[src]', (element) => (element as HTMLScriptElement).src),
    textsOf('link[rel="stylesheet"]', (element) => (element as HTMLLinkElement).href),
  ])
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Busbar</title>
<style>${styles.replaceAll('</', '<\\/')}</style>
</head>
<body>
<div id="page"></div>
<script type="application/json" id="${recordingId}">${asJson(recording)}</script>
<script type="module">${asScript(code)}</script>
</body>
</html>
`
}

export function nameOf({ savedAt, status: { app } }: Recording): string {
  const time = new Date(savedAt).toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')
  return `busbar-${app.name.replaceAll(/[^\w.-]+/g, '-')}-${time}.html`
}

async function textsOf(selector: string, addressOf: (element: Element) => string): Promise<string> {
  const elements = [...document.querySelectorAll(selector)]
  const texts = elements.map(async (element) => {
    const response = await fetch(addressOf(element))
    // An update of Busbar has replaced the page's files while it is open.
    if (!response.ok) throw new Error('The files of this page have changed. Load it again, then save.')
    return await response.text()
  })
  return (await Promise.all(texts)).join('\n')
}

/** No text of the app can end the element. */
function asJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

/** In the page's own code these are parts of texts. */
function asScript(code: string): string {
  return code.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
}
