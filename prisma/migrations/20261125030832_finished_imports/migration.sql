-- CreateTable
CREATE TABLE "finished_imports" (
    "sha256" TEXT NOT NULL,

    CONSTRAINT "finished_imports_pkey" PRIMARY KEY ("sha256")
);
