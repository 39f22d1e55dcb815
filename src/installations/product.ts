export const products = ['ci_insights', 'merge_protections', 'workflow_automation', 'merge_queue'] as const;

export type Product = (typeof products)[number];

/** What a new owner starts with: either switches freezes on. */
export const defaultProducts: readonly Product[] = ['merge_protections', 'merge_queue'];

/** Freezes are judged and written where one of these is enabled. Whether GitHub enforces them is another question. */
export const freezeProducts: readonly Product[] = ['merge_protections', 'merge_queue'];

export const freezesAreOn = (enabled: readonly Product[]): boolean =>
  freezeProducts.some((product) => enabled.includes(product));
