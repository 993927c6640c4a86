let date: string | undefined

/** For `Date` headers, as Node has it: made once a second. */
export function utcDate(): string {
  if (date === undefined) {
    const now = new Date()
    date = now.toUTCString()
    setTimeout(forgetDate, 1000 - now.getMilliseconds()).unref()
  }
  return date
}

function forgetDate(): void {
  date = undefined
}
