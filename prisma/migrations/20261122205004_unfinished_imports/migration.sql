-- CreateTable
CREATE TABLE "unfinished_imports" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "file" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "rows" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "unfinished_imports_pkey" PRIMARY KEY ("id")
);
