import type { ComponentChildren } from 'preact'

interface CardProps {
  readonly title: ComponentChildren
  /** At the right of the title. */
  readonly end?: ComponentChildren
  readonly children: ComponentChildren
  /** Without padding, for a table. */
  readonly flush?: boolean
  readonly label?: string
}

export function Card({ title, end, children, flush = false, label }: CardProps) {
  return (
    <section class="card" aria-label={label ?? (typeof title === 'string' ? title : undefined)}>
      <header>
        <h2>{title}</h2>
        {end !== undefined && <div class="end row">{end}</div>}
      </header>
      {flush ? (
        // Wide tables scroll, by keys too.
        <div class="scroll" tabIndex={0} role="group" aria-label={`${label ?? 'content'}, scrollable`}>
          {children}
        </div>
      ) : (
        <div class="body">{children}</div>
      )}
    </section>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
  /** What to run or to write. */
  readonly code?: string
}

/** Says why there is nothing, and how to get something. */
export function Empty({ title, children, code }: EmptyProps) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      <p>{children}</p>
      {code !== undefined && <pre tabIndex={0}>{code}</pre>}
    </div>
  )
}
