/** Figures as people read them. A dash stands for an unknown one. */

export function memoryText(bytes: number | null): string {
  return bytes === null ? '–' : `${(bytes / 1024 ** 2).toFixed(1)} MB`
}

export function percentText(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`
}

export function numberText(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function spanText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 100) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`
}
