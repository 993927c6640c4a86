import { dismiss, toasts } from '../state/toasts.ts'
import { Icon } from './icon.tsx'

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast ${kind}`}>
          <span class="grow">{text}</span>
          <button class="icon plain compact" aria-label="Close" onClick={() => close(id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  )
}

/** The focus would go with the button. */
function close(id: number): void {
  dismiss(id)
  document.getElementById('content')?.focus()
}
