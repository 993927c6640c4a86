import type { ComponentChildren } from 'preact'

interface ActionButtonProps {
  /** Whether it does nothing now. */
  readonly off: boolean
  readonly label?: string
  readonly kind?: 'compact' | 'danger'
  readonly onClick: () => void
  readonly children: ComponentChildren
}

/** Keeps the keyboard's focus while it is off, which a button with `disabled` loses. */
export function ActionButton({ off, label, kind, onClick, children }: ActionButtonProps) {
  return (
    <button
      class={kind}
      aria-disabled={off}
      {...(label !== undefined && { 'aria-label': label })}
      onClick={() => {
        if (!off) onClick()
      }}
    >
      {children}
    </button>
  )
}
