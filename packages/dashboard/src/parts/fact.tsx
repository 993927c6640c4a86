/** A name and its value, in a `dl`. */
export function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
