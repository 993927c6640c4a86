/** What can be done to a service. Each action is one call of the admin API. */
import { useRef, useState } from 'preact/hooks'
import { post, serviceAt } from '../../api/client.ts'
import type { Change, ServiceDescription } from '../../api/types.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatTime, plural } from '../../state/format.ts'
import { goTo } from '../../state/route.ts'
import { report, reportError } from '../../state/toasts.ts'

export function changeText(what: string, { replaced, added, removed, took }: Change): string {
  const parts = [
    replaced > 0 && `${plural(replaced, 'worker')} replaced`,
    added > 0 && `${added} added`,
    removed > 0 && `${removed} removed`,
  ].filter(Boolean)
  return `${what}: ${parts.length === 0 ? 'nothing had to change' : parts.join(', ')} in ${formatTime(took)}`
}

interface ActionsProps {
  readonly service: ServiceDescription
  readonly instances: number
}

export function ServiceActions({ service, instances }: ActionsProps) {
  const { name, kind } = service
  const [busy, setBusy] = useState(false)
  const run = async (what: string, path: string, body: object): Promise<void> => {
    setBusy(true)
    try {
      report('good', changeText(what, await post<Change>(path, body)))
    } catch (error) {
      reportError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="row tight" aria-busy={busy}>
      <ActionButton
        kind="compact"
        off={busy}
        onClick={() => void run(`${name} reloaded`, '/reload', { service: name })}
      >
        Reload
      </ActionButton>
      <Scale
        name={name}
        instances={instances}
        busy={busy}
        scale={(to) => void run(`${name} scaled`, serviceAt(name, 'scale'), { instances: to })}
      />
      {kind !== 'command' && (
        <Move service={service} busy={busy} move={(to) => void run(`${name} moved`, serviceAt(name, 'move'), to)} />
      )}
      {kind !== 'command' && (
        <ActionButton kind="compact" off={busy} onClick={() => goTo('profile', name)}>
          Profile
        </ActionButton>
      )}
    </div>
  )
}

interface ScaleProps {
  readonly name: string
  readonly instances: number
  readonly busy: boolean
  readonly scale: (to: string) => void
}

function Scale({ name, instances, busy, scale }: ScaleProps) {
  return (
    <span class="stepper" role="group" aria-label={`Instances of ${name}`}>
      <ActionButton
        kind="compact"
        off={busy || instances <= 1}
        label={`One instance of ${name} fewer`}
        onClick={() => scale('-1')}
      >
        −
      </ActionButton>
      <output>{instances}</output>
      <ActionButton kind="compact" off={busy} label={`One more instance of ${name}`} onClick={() => scale('+1')}>
        +
      </ActionButton>
    </span>
  )
}

interface MoveProps {
  readonly service: ServiceDescription
  readonly busy: boolean
  readonly move: (to: { readonly run: string; readonly instances?: number }) => void
}

const places = [
  { run: 'shared', text: 'in the shared workers: calls between their services are function calls' },
  { run: 'thread', text: 'in a thread of its own' },
  { run: 'process', text: 'in a process of its own: its crash takes nothing along' },
] as const

function Move({ service: { name, run }, busy, move }: MoveProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [chosen, choose] = useState(run)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    dialog.current?.close()
    move({ run: chosen })
  }
  const open = (): void => {
    choose(run)
    dialog.current?.showModal()
  }
  return (
    <>
      <ActionButton kind="compact" off={busy} onClick={open}>
        Move…
      </ActionButton>
      <dialog ref={dialog} aria-label={`Move ${name}`}>
        <h2>Move {name}</h2>
        <p class="dim">It serves meanwhile. The place holds until the app is restarted.</p>
        <form onSubmit={submit}>
          {places.map(({ run: to, text }) => (
            <label class="check" key={to}>
              <input
                type="radio"
                name="run"
                value={to}
                checked={to === chosen}
                autofocus={to === run}
                onChange={() => choose(to)}
              />
              <span>
                <strong>{to}</strong> <span class="dim">{text}</span>
              </span>
            </label>
          ))}
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <ActionButton kind="primary" type="submit" off={chosen === run}>
              Move
            </ActionButton>
          </div>
        </form>
      </dialog>
    </>
  )
}
