import { useRef, useState } from 'preact/hooks'
import { post } from '../../api/client.ts'
import type { Change } from '../../api/types.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { report, reportError } from '../../state/toasts.ts'
import { changeText } from './service-actions.tsx'

export function AppActions() {
  const [busy, setBusy] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  const run = async (action: () => Promise<string>): Promise<void> => {
    setBusy(true)
    try {
      report('good', await action())
    } catch (error) {
      reportError(error)
    } finally {
      setBusy(false)
    }
  }
  const restart = (): void => {
    dialog.current?.close()
    void run(async () => {
      await post('/restart')
      return 'The app stops and starts again. This page connects again by itself.'
    })
  }
  return (
    <div class="actions">
      <ActionButton
        off={busy}
        onClick={() => void run(async () => changeText('The app is reloaded', await post<Change>('/reload')))}
      >
        Reload all
      </ActionButton>
      <ActionButton off={busy} kind="danger" onClick={() => dialog.current?.showModal()}>
        Restart…
      </ActionButton>
      <dialog ref={dialog} aria-label="Restart the app">
        <h2>Restart the whole app?</h2>
        <div class="stack">
          <p class="dim">
            All workers stop after their requests in flight, then the app starts again. Its ports are closed meanwhile.
            A reload replaces the workers without that.
          </p>
          <div class="buttons">
            <button onClick={() => dialog.current?.close()}>Cancel</button>
            <button class="danger" onClick={restart}>
              Restart
            </button>
          </div>
        </div>
      </dialog>
    </div>
  )
}
