export const products = ['ci_insights', 'merge_protections', 'workflow_automation', 'merge_queue'] as const;

export type Product = (typeof products)[number];

/** The products of a new owner. Each of them switches freezes on. */
export const defaultProducts: readonly Product[] = ['merge_protections', 'merge_queue'];

/** If one of these is enabled, we judge freezes and write statuses. Whether GitHub enforces them is another question. */
export const freezeProducts: readonly Product[] = ['merge_protections', 'merge_queue'];

export const freezesAreOn = (enabled: readonly Product[]): boolean =>
  freezeProducts.some((product) => enabled.includes(product));
