/** Numbers as people read them. */

/** `0`, `0.4`, `12.3`, `1,240`. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

/** Null: not known yet. */
export function formatRate(perSecond: number | null): string {
  return perSecond === null ? '–' : `${formatNumber(perSecond)}/s`
}

/** Milliseconds. */
export function formatTime(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  if (milliseconds === Infinity) return '> 1 min'
  if (milliseconds === 0) return '0 ms'
  if (milliseconds < 0.9995) return `${formatNumber(milliseconds * 1000)} µs`
  if (milliseconds < 1000) return `${formatNumber(milliseconds)} ms`
  return milliseconds < 60_000 ? `${formatNumber(milliseconds / 1000)} s` : formatDuration(milliseconds)
}

/** `3 d 4 h`, `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const hours = Math.floor(seconds / 3600)
  return hours < 48
    ? `${hours} h ${Math.floor((seconds % 3600) / 60)} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

export function formatBytes(bytes: number | null): string {
  if (bytes === null) return '–'
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${formatNumber(bytes / 1e3)} kB`
  return bytes < 1e9 ? `${formatNumber(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

/** A share from 0 to 1. */
export function formatShare(share: number | null): string {
  if (share === null) return '–'
  const percent = share * 100
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`
}

export function formatClock(time: number): string {
  return new Date(time).toLocaleTimeString('en-GB')
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}
