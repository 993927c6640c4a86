import type { ComponentChildren } from 'preact'

interface ActionButtonProps {
  /** Whether it does nothing now. */
  readonly off: boolean
  readonly label?: string
  readonly kind?: 'compact' | 'danger' | 'primary' | 'icon plain first-tool'
  /** It sends its form. */
  readonly type?: 'submit'
  readonly onClick?: () => void
  readonly children: ComponentChildren
}

/** Keeps the keyboard's focus while it is off, which a button with `disabled` loses. */
export function ActionButton({ off, label, kind, type, onClick, children }: ActionButtonProps) {
  return (
    <button
      class={kind}
      type={type}
      aria-disabled={off}
      {...(label !== undefined && { 'aria-label': label, title: label })}
      onClick={(event) => {
        if (off) event.preventDefault()
        else onClick?.()
      }}
    >
      {children}
    </button>
  )
}
