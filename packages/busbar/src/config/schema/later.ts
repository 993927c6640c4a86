/** Keys that DESIGN names and this version refuses, each with what to write instead. */
export const laterKeys: Readonly<Record<string, string>> = {
  remote: 'Leave the service out and call it by its own address: names that are no services go to the network.',
}
