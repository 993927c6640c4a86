import { useRef, useState } from 'preact/hooks'
import { formatShare } from '../../state/format.ts'
import type { Frame } from './read-profile.ts'

/** Narrower frames are not drawn: a share of the width. */
const least = 0.001
const rowHeight = 22

interface FlameGraphProps {
  readonly root: Frame
  readonly search: string
  /** Of what the profile measures. */
  readonly format: (value: number) => string
}

/** Callers above, what they called below. A frame is as wide as what it has used. */
export function FlameGraph({ root, search, format }: FlameGraphProps) {
  const [chosen, zoom] = useState<Frame>()
  const host = useRef<HTMLDivElement>(null)
  // Another profile has other frames.
  const focus = chosen !== undefined && contains(root, chosen) ? chosen : root
  const shown = placed(focus)
  const depth = Math.max(...shown.map(({ frame }) => frame.depth)) + 1
  const press = (event: KeyboardEvent): void => {
    const current = Number((event.target as HTMLElement).dataset['frame'])
    const next = neighbour(shown, current, event.key)
    if (next === undefined) return
    event.preventDefault()
    host.current?.querySelector<HTMLElement>(`[data-frame="${next}"]`)?.focus()
  }
  return (
    <>
      <p class="small dim row">
        <span>
          {focus === root ? 'All' : focus.name}: {format(focus.total)}
        </span>
        {focus !== root && (
          <button class="compact" onClick={() => zoom(undefined)}>
            Show all
          </button>
        )}
        <span>Choose a frame to enlarge it; arrow keys move between frames.</span>
      </p>
      <div
        class="flames"
        ref={host}
        style={{ height: `${depth * rowHeight}px` }}
        onKeyDown={press}
        role="group"
        aria-label="Flame graph"
      >
        {shown.map(({ frame, left, width }) => {
          const { id, name, place, owner, self, total } = frame
          const share = total / root.total
          const text = `${name} ${place}: ${format(total)}, ${formatShare(share)}; itself ${format(self)}`
          const isFound = search !== '' && `${name} ${place}`.toLowerCase().includes(search.toLowerCase())
          return (
            <button
              key={id}
              data-frame={id}
              class={`flame tone-${owner} ${isFound ? 'found' : ''}`}
              style={{
                left: `${left * 100}%`,
                width: `${width * 100}%`,
                top: `${frame.depth * rowHeight}px`,
                height: `${rowHeight - 1}px`,
              }}
              tabIndex={frame === focus ? 0 : -1}
              title={text}
              aria-label={text}
              onClick={() => zoom(frame)}
            >
              {width > 0.02 ? name : ''}
            </button>
          )
        })}
      </div>
    </>
  )
}

interface Placed {
  readonly frame: Frame
  /** Shares of the width. */
  readonly left: number
  readonly width: number
}

/** The callers of the frame over the whole width, and all below it. */
function placed(focus: Frame): Placed[] {
  const found: Placed[] = []
  for (let frame = focus.parent; frame !== undefined; frame = frame.parent) found.unshift({ frame, left: 0, width: 1 })
  const visit = (frame: Frame, left: number, width: number): void => {
    if (width < least) return
    found.push({ frame, left, width })
    let at = left
    for (const child of frame.children) {
      const share = (width * child.total) / frame.total
      visit(child, at, share)
      at += share
    }
  }
  visit(focus, 0, 1)
  return found
}

function contains(root: Frame, frame: Frame): boolean {
  let top = frame
  while (top.parent !== undefined) top = top.parent
  return top === root
}

function neighbour(shown: readonly Placed[], current: number, key: string): number | undefined {
  const frame = shown.find((one) => one.frame.id === current)?.frame
  if (frame === undefined) return undefined
  const isShown = (one: Frame | undefined): boolean => shown.some((other) => other.frame === one)
  const siblings = (frame.parent?.children ?? []).filter(isShown)
  const at = siblings.indexOf(frame)
  const targets: Readonly<Record<string, Frame | undefined>> = {
    ArrowUp: frame.parent,
    ArrowDown: frame.children.find(isShown),
    ArrowLeft: siblings[at - 1],
    ArrowRight: siblings[at + 1],
  }
  return targets[key]?.id
}
