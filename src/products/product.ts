export const products = ['ci_insights', 'merge_protections', 'workflow_automation', 'merge_queue'] as const;

export type Product = (typeof products)[number];

/** What a new owner starts with: the two that enforce freezes. */
export const defaultProducts: readonly Product[] = ['merge_protections', 'merge_queue'];

/** Freezes hold pull requests where one of these is enabled. */
export const enforcesFreezes = (enabled: readonly Product[]): boolean =>
  enabled.includes('merge_protections') || enabled.includes('merge_queue');
