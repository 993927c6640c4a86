/** Keys that DESIGN names and this version refuses, each with what to write instead. */
export const laterKeys: Readonly<Record<string, string>> = {
  group: 'Leave it out: every service runs in the shared workers, which all services share.',
  instances: 'Leave it out and set `workers`: each shared worker has a copy of every service.',
  concurrency: 'Leave it out: a program takes as many requests at a time as it can.',
  memory: 'Leave it out: shared workers have the heap that Node gives them.',
  command: 'Give `path` to a Node program instead; for another program, start it yourself and call it by its address.',
  remote: 'Leave the service out and call it by its own address: names that are no services go to the network.',
  openapi: 'Leave it out: the program serves its own description.',
}

/** Placements that this version refuses, each with what to write instead. */
export const laterRuns: Readonly<Record<string, string>> = {
  thread: "Write run: 'shared'; a thread of its own comes with a later version.",
  process: "Write run: 'shared'; a process of its own comes with a later version.",
}
