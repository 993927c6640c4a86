import type { Product } from '../catalog/contract.ts'

export interface Seed extends Product {
  readonly featured: boolean
  readonly left: number
}

type Row = [name: string, text: string, cents: number, picture: Seed['picture'], hue: number, left: number]

const featured: readonly Row[] = [
  ['Harbour lamp', 'Turned ash and linen. Warm light for long evenings.', 8900, 'lamp', 38, 14],
  ['Field chair', 'Folds flat, sits upright, ages well.', 15900, 'chair', 152, 6],
  ['Morning mug', 'Stoneware, 35 cl, fits the hand and the dishwasher.', 1900, 'mug', 12, 80],
  ['Quiet clock', 'No tick. Only the time.', 6400, 'clock', 210, 9],
  ['Window plant', 'A rubber fig that forgives you.', 2900, 'plant', 128, 23],
  ['Slim shelf', 'One board of oak and two brackets of steel.', 7200, 'shelf', 24, 3],
]

const others: readonly Row[] = [
  ['Tall vase', 'Blown glass for a single branch.', 4500, 'vase', 282, 12],
  ['Deep bowl', 'For soup, pasta and second helpings.', 2400, 'bowl', 196, 40],
  ['Desk lamp', 'A steel arm that stays where you put it.', 11900, 'lamp', 222, 7],
  ['Kitchen chair', 'Beech, with a seat of paper cord.', 18900, 'chair', 44, 4],
  ['Tea mug', 'Thin porcelain with a lid that keeps it warm.', 2200, 'mug', 330, 31],
  ['Station clock', 'Read it from the other end of the hall.', 9900, 'clock', 4, 5],
  ['Kitchen herbs', 'Basil, thyme and mint in one box of zinc.', 1700, 'plant', 96, 18],
  ['Wall shelf', 'Ladder of pine, five steps, holds books.', 13400, 'shelf', 32, 2],
  ['Low vase', 'Speckled clay for short stems.', 3600, 'vase', 18, 15],
  ['Small bowl', 'For olives, keys, or nothing at all.', 1400, 'bowl', 262, 52],
]

export const seed: readonly Seed[] = [...featured, ...others].map(([name, text, cents, picture, hue, left], at) => ({
  id: at + 1,
  name,
  text,
  cents,
  picture,
  hue,
  left,
  featured: at < featured.length,
}))
