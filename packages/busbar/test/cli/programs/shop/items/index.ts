import { items } from './contract.ts'
export default items.implement({
  item: ({ id }, { fail }) => (id === 404 ? fail('GONE', { id }) : { id, name: 'cup' }),
  all: async function* ({ count }) {
    for (let n = 0; n < count; n++) yield n
  },
  when: () => new Date(0),
})
