/** Line icons of 20 × 20, drawn here. */
const paths = {
  topology: 'M4 5.5h4v4H4zM12 2.5h4v4h-4zM12 13.5h4v4h-4zM8 7.5h2M10 4.5v11M10 4.5h2M10 15.5h2',
  services: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01',
  latency: 'M3 16V4M3 16h14M6 12h2v2H6zM9.500 8h2v2h-2zM13 5h2v2h-2zM9.500 12h2v2h-2zM13 9h2v2h-2z',
  runtime: 'M2.500 10h3l2-5 4 10 2-5h4',
  traces: 'M3 5h9M6 10h8M9 15h8',
  logs: 'M4 4h12M4 8h12M4 12h8M4 16h10',
  api: 'M7 5 3 10l4 5M13 5l4 5-4 5',
  profile: 'M3 16h14M5 12.500h10M7 9h6M8.500 5.500h3',
  reports: 'M4 17V9M8.500 17V5M13 17v-6M17 17V3',
  moon: 'M16 12.500A7 7 0 0 1 7.500 4a6.500 6.500 0 1 0 8.500 8.500z',
  sun: 'M10 6.500a3.500 3.500 0 1 1 0 7 3.500 3.500 0 0 1 0-7zM10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1.100 1.100M14.600 14.600l1.100 1.100M4.300 15.700l1.100-1.100M14.600 5.400l1.100-1.100',
  save: 'M10 3v9M6.500 8.500 10 12l3.500-3.500M4 16h12',
  close: 'M5 5l10 10M15 5 5 15',
  brand: 'M2 8.500h16v3H2zM5 3v14M10 3v14M15 3v14',
  out: 'M8 4H4v12h12v-4M11 4h5v5M16 4l-7 7',
} as const

export type IconName = keyof typeof paths

export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}
