import type { CommandContext } from '../command.ts'
import { findLab } from './find-lab.ts'

/** The interface that the lab exports for this command. */
interface Lab {
  command(args: readonly string[]): Promise<number>
}

/** `busbar bench`: forwards its arguments to the lab. */
export async function bench({ rest, terminal }: CommandContext): Promise<number> {
  const lab = (await findLab(terminal.cwd, 'bench')) as Lab
  return lab.command(rest)
}
