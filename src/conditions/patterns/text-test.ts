/** Whether a text matches. Built once and called often. */
export type TextTest = (text: string) => boolean;
