/** The figures of a database without anything. */
export const noFigures = {
  statusesWaiting: 0,
  waitingSince: null,
  freezesOngoing: 0,
  pullRequestsLeaking: 0,
  installationsSuspended: 0,
  instantHolds: 0,
  deliveriesDue: 0,
  deliveriesDueSince: null,
  jobs: [],
};
