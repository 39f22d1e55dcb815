import { webPullRequests } from './demo-seed.ts';

/** The values for the tour's commands, in plain text, so that people can paste the commands. */
export type TourValues = {
  serviceUrl: string;
  githubUrl: string;
  adminToken: string;
  adminKey: string;
  ciKey: string;
};

export type TourStep = { title: string; command: string };

/** An instant from now in Paris, for GNU's and for BSD's `date`. */
const inParis = (minutes: number): string =>
  process.platform === 'darwin'
    ? `$(TZ=Europe/Paris date -v+${minutes}M +%Y-%m-%dT%H:%M:%S)`
    : `$(TZ=Europe/Paris date -d '+${minutes} minutes' +%Y-%m-%dT%H:%M:%S)`;

/** The commands of the tour, in order. Each is one line that a POSIX shell runs unchanged. */
export function tour(values: TourValues): TourStep[] {
  const { serviceUrl, githubUrl, adminToken, adminKey, ciKey } = values;
  const freezes = `'${serviceUrl}/v1/repos/acme/web/scheduled_freeze`;
  const as = (credential: string) => `-H 'Authorization: Bearer ${credential}'`;
  const json = `-H 'Content-Type: application/json'`;
  const status = `-w '%{http_code}\\n'`;
  const readable = `sed 's/.*"number":\\([0-9]*\\),.*"title":"\\([^"]*\\)".*"mergeable_state":"\\([a-z]*\\)".*/\\3  #\\1 \\2/'`;
  const look = `curl -s -w '\\n' ${as(adminToken)} '${githubUrl}/repos/acme/web/pulls/[1-${webPullRequests}]' | ${readable}`;
  return [
    {
      title: 'List the freezes: the year end is next.',
      command: `curl -s -w '\\n' ${as(adminToken)} ${freezes}'`,
    },
    {
      title:
        'Freeze pull requests with the label risky, from now on, for one minute. The admin key works like the token.',
      command:
        `FREEZE=$(curl -s -X POST ${as(adminKey)} ${json} ${freezes}' -d '{"reason":"Release 4.2","start":null,` +
        `"end":"'"${inParis(1)}"'","timezone":"Europe/Paris","matching_conditions":["label=risky"]}'` +
        ` | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'); echo "$FREEZE"`,
    },
    { title: 'Ask GitHub which pull requests are blocked: #2, #3 and #6.', command: look },
    {
      title: 'As CI: say what #4 touches (204).',
      command:
        `curl -s ${status} -X PUT ${as(ciKey)} ${json} '${serviceUrl}/v1/repos/acme/web/pulls/4/scopes'` +
        ` -d '{"scopes":["payments"]}'`,
    },
    {
      title: 'Extend it by four minutes, and hold everything that touches payments: #4 is blocked too.',
      command:
        `curl -s -w '\\n' -X PATCH ${as(adminKey)} ${json} ${freezes}/'"$FREEZE"` +
        ` -d '{"end":"'"${inParis(5)}"'","matching_conditions":[{"or":["label=risky","scope=payments"]}]}'`,
    },
    {
      title: 'Delete it with a reason (204). Otherwise it ends by itself.',
      command: `curl -s ${status} -X POST ${as(adminKey)} ${json} ${freezes}/'"$FREEZE"'/delete' -d '{"delete_reason":"Released"}'`,
    },
    { title: 'The release: nothing is blocked any more.', command: look },
    {
      title: 'The audit log: who did what, and why.',
      command: `curl -s -w '\\n' ${as(adminToken)} '${serviceUrl}/v1/repos/acme/web/logs'`,
    },
  ];
}
