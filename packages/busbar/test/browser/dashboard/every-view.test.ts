import { describeViews } from './described-views.ts'

const views = (['light', 'dark'] as const).flatMap((theme) =>
  [1440, 900, 768, 390, 320].map((width) => ({ theme, width })),
)

describeViews('shop', ['/', '/api/catalog/featured', '/api/catalog/search?text=lamp', '/nothing'], views)
