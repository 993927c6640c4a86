import { useRef, useState } from 'preact/hooks'
import { mostMinutes, record } from '../recording/record.ts'
import { nameOf, toHtml } from '../recording/to-html.ts'
import { report, reportError } from '../state/toasts.ts'
import { ActionButton } from './action-button.tsx'
import { Icon } from './icon.tsx'
import { saveFile } from './save-file.ts'

/** Saves the last minutes as a file that opens without the app. */
export function SaveButton() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [busy, setBusy] = useState(false)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    dialog.current?.close()
    const minutes = Number(new FormData(event.currentTarget as HTMLFormElement).get('minutes'))
    setBusy(true)
    void save(minutes).finally(() => setBusy(false))
  }
  return (
    <>
      <ActionButton
        kind="icon plain first-tool"
        off={busy}
        label="Save the last minutes"
        onClick={() => dialog.current?.showModal()}
      >
        <Icon name="save" />
      </ActionButton>
      <dialog ref={dialog} aria-label="Save the last minutes">
        <h2>Save the last minutes</h2>
        <p class="dim">
          One HTML file with what this page has: the topology, services, latencies, runtime, traces and logs. It opens
          in any browser, without the app and offline. Log lines and paths are in it as they are.
        </p>
        <form onSubmit={submit}>
          <label class="field">
            Minutes, since this page is open
            <input
              name="minutes"
              type="number"
              min={1}
              max={mostMinutes}
              step={1}
              defaultValue={`${mostMinutes}`}
              required
            />
          </label>
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button class="primary" type="submit">
              Save
            </button>
          </div>
        </form>
      </dialog>
    </>
  )
}

async function save(minutes: number): Promise<void> {
  try {
    const recording = await record(minutes)
    const name = nameOf(recording)
    saveFile(await toHtml(recording), name, 'text/html')
    report('good', `Saved as ${name}`)
  } catch (error) {
    reportError(error)
  }
}
