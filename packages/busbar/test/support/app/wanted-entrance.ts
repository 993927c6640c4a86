import type { GatewayConfig } from '../../../src/config/app.ts'

/** The entrance that the tests run with: `BUSBAR_ENTRANCE=native npm test -- <folder>`. */
export const wantedEntrance: GatewayConfig['entrance'] =
  process.env['BUSBAR_ENTRANCE'] === 'native' ? 'native' : 'portable'

/** Whether clients come through the native entrance. Its guide lists where it differs. */
export const isNative = wantedEntrance === 'native'
