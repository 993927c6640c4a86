import { describeViews } from './described-views.ts'

// The others are in `every-view.test.ts`.
describeViews(
  'fanout',
  ['/tsfastify/ipc', '/tsfastify/nothing'],
  [
    { theme: 'dark', width: 1440 },
    { theme: 'light', width: 320 },
  ],
)
