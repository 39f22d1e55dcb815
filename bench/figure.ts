/** Something measured of Holdfast, beside the floor that was measured in the same run. */
export type Figure = {
  bench: string;
  figure: string;
  unit: string;
  holdfast: number;
  floor: number;
  /** `holdfast / floor`: the machines are shared, and only ratios travel. */
  ratio: number;
  aim?: string;
  met?: boolean;
};

/** What a benchmark gives: its figures, and what a reader must know beside them. */
export type Outcome = { figures: Figure[]; notes: string[]; failures?: string[] };

export type Aim = { text: string; isMet(holdfast: number, floor: number): boolean };

export const atLeast = (times: number): Aim => ({
  text: `≥ ${times} ×`,
  isMet: (holdfast, floor) => holdfast >= times * floor,
});
export const atMost = (times: number): Aim => ({
  text: `≤ ${times} ×`,
  isMet: (holdfast, floor) => holdfast <= times * floor,
});
/** In the figure's own unit. */
export const within = (more: number): Aim => ({
  text: `≤ floor + ${more}`,
  isMet: (holdfast, floor) => holdfast <= floor + more,
});

export function compare(
  bench: string,
  figure: string,
  unit: string,
  holdfast: number,
  floor: number,
  aim?: Aim,
): Figure {
  const values = { holdfast: rounded(holdfast), floor: rounded(floor), ratio: rounded(holdfast / floor) };
  return {
    ...{ bench, figure, unit, ...values },
    ...(aim && { aim: aim.text, met: aim.isMet(holdfast, floor) }),
  };
}

/** To three digits: more would only be noise. */
const rounded = (value: number): number => Number(value.toPrecision(value >= 1000 ? 4 : 3));
