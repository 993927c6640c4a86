namespace Colours {
  export const red = 'red'
}
export const colourOf = (): string => Colours.red
