/** Something measured of Holdfast, beside the floor that was measured in the same run. */
export type Figure = {
  bench: string;
  figure: string;
  unit: string;
  holdfast: number;
  /** Null where there is nothing to compare with: a count, or a resident size. */
  floor: number | null;
  /** `holdfast / floor`: the machines are shared, and only ratios travel. */
  ratio: number | null;
  /** The run fails where one is not met. */
  must?: string;
  met?: boolean;
  /** What we would like, and what nothing depends on. */
  aim?: string;
  aimMet?: boolean;
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
/** In the figure's own unit. @param usual the floor where the budget was set; see `slower`. */
export const within = (more: number, usual: number): Aim => ({
  text: `≤ floor + ${more} (floor ${usual})`,
  isMet: (holdfast, floor) => holdfast <= floor + more * slower(floor, usual),
});
/** In the figure's own unit. @param usual the floor where the budget was set; without it the floor is no matter. */
export const upTo = (most: number, usual?: number): Aim => ({
  text: usual === undefined ? `≤ ${most}` : `≤ ${most} (floor ${usual})`,
  isMet: (holdfast, floor) => holdfast <= most * (usual === undefined ? 1 : slower(floor, usual)),
});

/**
 * In the figure's own unit, where the floor mostly waits and so does not say how fast the machine is.
 * @param post the processor time of a posted status of the floor in this run, in ms.
 */
export function upToAt(most: number, post: number): Aim {
  const times = slower(post, usualPost);
  return {
    text: `≤ ${most} × ${times.toFixed(1)}`,
    isMet: (holdfast) => holdfast <= most * times,
  };
}

/** The processor time of a posted status of the floor, of 5,000 of them, where the budgets were set, in ms. */
export const usualPost = 0.447;

/** A time that was set on another machine: one whose floor is slower may take as many times longer, none takes less. */
const slower = (floor: number, usual: number): number => Math.max(1, floor / usual);

export function compare(
  bench: string,
  figure: string,
  unit: string,
  holdfast: number,
  floor: number,
  must?: Aim,
  aim?: Aim,
): Figure {
  return {
    bench,
    figure,
    unit,
    holdfast: rounded(holdfast),
    floor: rounded(floor),
    ratio: rounded(holdfast / floor),
    ...(must && { must: must.text, met: must.isMet(holdfast, floor) }),
    ...(aim && { aim: aim.text, aimMet: aim.isMet(holdfast, floor) }),
  };
}

/** A figure without a floor. */
export const alone = (
  bench: string,
  figure: string,
  unit: string,
  holdfast: number,
  must?: Aim,
  aim?: Aim,
): Figure => ({ ...compare(bench, figure, unit, holdfast, NaN, must, aim), floor: null, ratio: null });

/** To three digits: more would only be noise. */
const rounded = (value: number): number => Number(value.toPrecision(value >= 1000 ? 4 : 3));
