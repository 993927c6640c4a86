import { testFaults } from '../support/faults.ts'
import { tiny } from '../support/fixture.ts'

testFaults('in slices', { ...tiny, pulses: 0 })
